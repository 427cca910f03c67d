// o = softmax(scale · q kᵀ) v for Hopper GPUs and heads of 128 elements, by hand: hand_written.tile says what it
// computes. The schedule is that of FlashAttention 3 (J. Shah et al., 2024).
//
// A program has 128 queries of one head and goes over the keys from the last ones that they see to the first. While the
// tensor cores multiply the weights of one block of keys with their values, the exponentials of the next one are
// computed: two contractions are on their way, and each is waited for by itself. The weights go from one contraction
// to the next in the registers in which they are, for an accumulator's layout is the left operand's. Sums of weights
// stay apart, one a lane, until the loop is done.
//
// Programs that see most keys come first, so that all multiprocessors are done at about the same time.

#s = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
#o = #tile_gpu.layout<["i", "D"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
#row = #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]], repeat = [1]>
#key = #tile_gpu.layout<["j"], register = [[1], [8], [16], [32], [64]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0], [0]], repeat = [1]>
#part = #tile_gpu.layout<["i", "lane"], register = [[8, 0]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
!block = !tile_gpu.shared<tensor<128x128xbf16>, swizzle = 128>
!once = !tile_gpu.channel<1, [!block]>
!twice = !tile_gpu.channel<2, [!block]>
!s = tensor<128x128xf32, #s>
!p = tensor<128x128xbf16, #s>
!o = tensor<128x128xf32, #o>
!out = tensor<128x128xbf16, #o>
!row = tensor<128xf32, #row>
!part = tensor<128x4xf32, #part>
!t = memref<?x?x?x128xbf16>
#at = affine_map<(b, h, n) -> (b, h, n * 128, 0)>

tile.kernel @attention(
    %q: !t {tile.name = "q", tile.mode = "in", tile.type = "bf16", tile.shape = affine_map<()[b, h, s, g, l] -> (b, h, s, 128)>},
    %k: !t {tile.name = "k", tile.mode = "in", tile.type = "bf16", tile.shape = affine_map<()[b, h, s, g, l] -> (b, g, l, 128)>},
    %v: !t {tile.name = "v", tile.mode = "in", tile.type = "bf16", tile.shape = affine_map<()[b, h, s, g, l] -> (b, g, l, 128)>},
    %scale: f32 {tile.name = "scale", tile.mode = "in", tile.type = "f32"},
    %causal: i1 {tile.name = "causal", tile.mode = "in", tile.type = "bool"},
    %out: !t {tile.name = "o", tile.mode = "out", tile.type = "bf16", tile.shape = affine_map<()[b, h, s, g, l] -> (b, h, s, 128)>})
    attributes {dims = ["B", "H", "S", "G", "L"], tile_gpu.warps = 12, tile_gpu.persistent} {
  %low = arith.constant 0xFF800000 : f32
  %log2e = arith.constant 1.44269504 : f32
  %onef = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %no = arith.constant false
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c127 = arith.constant 127 : i64
  %c128 = arith.constant 128 : i64
  %c255 = arith.constant 255 : i64
  %B = tile.dim "B"
  %H = tile.dim "H"
  %S = tile.dim "S"
  %G = tile.dim "G"
  %L = tile.dim "L"
  %rest = tile.rem %H, %G : i64
  %isWhole = arith.cmpi eq, %rest, %c0 : i64
  tile.require %isWhole, "H % G == 0"
  // The greatest score of a row is looked for before it is scaled.
  %isPositive = arith.cmpf ogt, %scale, %zero : f32
  tile.require %isPositive, "scale > 0"
  %ii = tile.axis %c0 to %c128 : !tile.span<"i", 128>
  %jj = tile.axis %c0 to %c128 : !tile.span<"j", 128>
  %DD = tile.axis %c0 to %c128 : !tile.span<"D", 128>
  %parts = tile.axis %c0 to %c4 : !tile.span<"lane", 4>
  %factor = arith.mulf %scale, %log2e : f32
  %heads = arith.divui %H, %G : i64
  %paddedS = arith.addi %S, %c127 : i64
  %rowBlocks = arith.divui %paddedS, %c128 : i64
  %paddedL = arith.addi %L, %c127 : i64
  %keyBlocks = arith.divui %paddedL, %c128 : i64
  // How far a row's last key is from it.
  %ahead = arith.subi %L, %S : i64
  %qs = tile_gpu.channel : !once
  %ks = tile_gpu.channel : !twice
  %vs = tile_gpu.channel : !twice
  tile.parallel (%b = each "b" %c0 to %B, %turn = each "n" %c0 to %rowBlocks, %h = each "h" %c0 to %H) {
    tile_gpu.roles "load" warps 4 registers 40 {
      // Programs with most keys come first.
      %next = arith.addi %turn, %c1 : i64
      %n = arith.subi %rowBlocks, %next : i64
      %start = arith.muli %n, %c128 : i64
      %lastKey = arith.addi %start, %ahead : i64
      %end = arith.addi %lastKey, %c255 : i64
      %own0 = arith.divsi %end, %c128 : i64
      %own1 = arith.minsi %own0, %keyBlocks : i64
      %own = arith.maxsi %own1, %c0 : i64
      %count = arith.select %causal, %own, %keyBlocks : i64
      %last = arith.subi %count, %c1 : i64
      %item = tile_gpu.position %qs : !once
      %first = tile_gpu.position %ks : !twice
      %firstV = tile_gpu.position %vs : !twice
      %isAny = arith.cmpi sgt, %count, %c0 : i64
      %any = arith.extui %isAny : i1 to i64
      %g = arith.divui %h, %heads : i64
      scf.if %isAny {
        tile_gpu.put %qs[%item] from %q at [#at](%b, %h, %n) : !once from !t at i64, i64, i64
        tile_gpu.put %ks[%first] from %k at [#at](%b, %g, %last) : !twice from !t at i64, i64, i64
        scf.for %m = %c1 to %count step %c1 : i64 {
          %number = arith.addi %first, %m : i64
          %before = arith.subi %m, %c1 : i64
          %numberV = arith.addi %firstV, %before : i64
          %block = arith.subi %last, %m : i64
          %blockV = arith.addi %block, %c1 : i64
          tile_gpu.put %ks[%number] from %k at [#at](%b, %g, %block) : !twice from !t at i64, i64, i64
          tile_gpu.put %vs[%numberV] from %v at [#at](%b, %g, %blockV) : !twice from !t at i64, i64, i64
        }
        %lastItem = arith.addi %firstV, %last : i64
        tile_gpu.put %vs[%lastItem] from %v at [#at](%b, %g, %c0) : !twice from !t at i64, i64, i64
      }
      tile_gpu.advance %qs by %any : !once
      tile_gpu.advance %ks by %count : !twice
      tile_gpu.advance %vs by %count : !twice
    }, "multiply" warps 8 registers 232 {
      %next = arith.addi %turn, %c1 : i64
      %n = arith.subi %rowBlocks, %next : i64
      %start = arith.muli %n, %c128 : i64
      %lastKey = arith.addi %start, %ahead : i64
      %end = arith.addi %lastKey, %c255 : i64
      %own0 = arith.divsi %end, %c128 : i64
      %own1 = arith.minsi %own0, %keyBlocks : i64
      %own = arith.maxsi %own1, %c0 : i64
      %count = arith.select %causal, %own, %keyBlocks : i64
      %last = arith.subi %count, %c1 : i64
      %item = tile_gpu.position %qs : !once
      %first = tile_gpu.position %ks : !twice
      %firstV = tile_gpu.position %vs : !twice
      %isAny = arith.cmpi sgt, %count, %c0 : i64
      %any = arith.extui %isAny : i1 to i64
      // Keys that rows see: those before %limits.
      %rowsAt = tile.coords %ii : !tile.span<"i", 128> -> tensor<128xi64, #row>
      %keyAfter = arith.addi %lastKey, %c1 : i64
      %keysAfter = tile.broadcast %keyAfter : i64 to tensor<128xi64, #row>
      %seen = arith.addi %rowsAt, %keysAfter : tensor<128xi64, #row>
      %all = tile.broadcast %L : i64 to tensor<128xi64, #row>
      %least = arith.minsi %seen, %all : tensor<128xi64, #row>
      %isCausal = tile.broadcast %causal : i1 to tensor<128xi1, #row>
      %limits = arith.select %isCausal, %least, %all : tensor<128xi1, #row>, tensor<128xi64, #row>
      // Up to here all rows see all keys.
      %common = arith.select %causal, %keyAfter, %L : i64
      %whole = arith.minsi %common, %L : i64
      %keysAt64 = tile.coords %jj : !tile.span<"j", 128> -> tensor<128xi64, #key>
      %keysAt = arith.trunci %keysAt64 : tensor<128xi64, #key> to tensor<128xi32, #key>
      %factors = tile.broadcast %factor : f32 to !s
      %rowFactors = tile.broadcast %factor : f32 to !row
      %zeroRow = tile.broadcast %zero : f32 to !row
      %lowRow = tile.broadcast %low : f32 to !row
      %lows = tile.broadcast %low : f32 to !s
      %oneRow = tile.broadcast %onef : f32 to !row
      %result = scf.if %isAny -> !o {
        %tq = tile_gpu.get %qs[%item] : !once to !block
        %tk0 = tile_gpu.get %ks[%first] : !twice to !block
        %f0 = tile_gpu.mma_fresh : !tile_gpu.pending<!s>
        %started0 = tile_gpu.mma %tq, %tk0, %f0 if %no : !block, !block, !tile_gpu.pending<!s>
        %s0 = tile_gpu.mma_end %started0 : !tile_gpu.pending<!s> to !s
        tile_gpu.release %ks[%first] : !twice
        %at0 = arith.muli %last, %c128 : i64
        %origin0 = tile.broadcast %at0 : i64 to tensor<128xi64, #row>
        %limit0 = arith.subi %limits, %origin0 : tensor<128xi64, #row>
        %short0 = arith.trunci %limit0 : tensor<128xi64, #row> to tensor<128xi32, #row>
        %keys0 = tile.broadcast %keysAt : tensor<128xi32, #key> to tensor<128x128xi32, #s>
        %ends0 = tile.broadcast %short0 : tensor<128xi32, #row> to tensor<128x128xi32, #s>
        %isSeen0 = arith.cmpi slt, %keys0, %ends0 : tensor<128x128xi32, #s>
        %masked0 = arith.select %isSeen0, %s0, %lows : tensor<128x128xi1, #s>, !s
        %m0 = tile.reduce <max> %masked0 over ["j"] : !s -> !row
        %isNone0 = arith.cmpf oeq, %m0, %lowRow : !row
        %mm0 = arith.select %isNone0, %zeroRow, %m0 : tensor<128xi1, #row>, !row
        %ms0 = arith.mulf %mm0, %rowFactors : !row
        %neg0 = arith.negf %ms0 : !row
        %b0 = tile.broadcast %neg0 : !row to !s
        %x0 = math.fma %masked0, %factors, %b0 : !s
        %p0 = math.exp2 %x0 fastmath<afn> : !s
        %l0 = tile_gpu.partial_reduce <add> %p0 over "j" into "lane" : !s -> !part
        %h0 = arith.truncf %p0 : !s to !p
        %fo = tile_gpu.mma_fresh : !tile_gpu.pending<!o>
        %acc, %hl, %m, %l = scf.for %x1 = %c1 to %count step %c1
            iter_args(%a1 = %fo, %h1 = %h0, %m1 = %m0, %l1 = %l0) -> (!tile_gpu.pending<!o>, !p, !row, !part) : i64 {
          %number = arith.addi %first, %x1 : i64
          %before = arith.subi %x1, %c1 : i64
          %numberV = arith.addi %firstV, %before : i64
          %tk = tile_gpu.get %ks[%number] : !twice to !block
          %f = tile_gpu.mma_fresh : !tile_gpu.pending<!s>
          %startedS = tile_gpu.mma %tq, %tk, %f if %no : !block, !block, !tile_gpu.pending<!s>
          %tv = tile_gpu.get %vs[%numberV] : !twice to !block
          %isLater = arith.cmpi sgt, %x1, %c1 : i64
          %startedO = tile_gpu.mma %h1, %tv by_columns, %a1 if %isLater : !p, !block, !tile_gpu.pending<!o>
          %s = tile_gpu.mma_end %startedS pending 1 : !tile_gpu.pending<!s> to !s
          tile_gpu.release %ks[%number] : !twice
          %block = arith.subi %last, %x1 : i64
          %blockAt = arith.muli %block, %c128 : i64
          %blockEnd = arith.addi %blockAt, %c128 : i64
          %isPartial = arith.cmpi sgt, %blockEnd, %whole : i64
          %masked = scf.if %isPartial -> !s {
            %origin = tile.broadcast %blockAt : i64 to tensor<128xi64, #row>
            %limit = arith.subi %limits, %origin : tensor<128xi64, #row>
            %short = arith.trunci %limit : tensor<128xi64, #row> to tensor<128xi32, #row>
            %keys = tile.broadcast %keysAt : tensor<128xi32, #key> to tensor<128x128xi32, #s>
            %ends = tile.broadcast %short : tensor<128xi32, #row> to tensor<128x128xi32, #s>
            %isSeen = arith.cmpi slt, %keys, %ends : tensor<128x128xi32, #s>
            %some = arith.select %isSeen, %s, %lows : tensor<128x128xi1, #s>, !s
            scf.yield %some : !s
          } else {
            scf.yield %s : !s
          }
          %most = tile.reduce <max> %masked over ["j"] : !s -> !row
          %m2 = arith.maximumf %m1, %most : !row
          %isNone = arith.cmpf oeq, %m2, %lowRow : !row
          %mm = arith.select %isNone, %zeroRow, %m2 : tensor<128xi1, #row>, !row
          %ms = arith.mulf %mm, %rowFactors : !row
          %neg = arith.negf %ms : !row
          %down = tile.broadcast %neg : !row to !s
          %x = math.fma %masked, %factors, %down : !s
          %p = math.exp2 %x fastmath<afn> : !s
          %rx = math.fma %m1, %rowFactors, %neg : !row
          %r = math.exp2 %rx fastmath<afn> : !row
          %sums = tile_gpu.partial_reduce <add> %p over "j" into "lane" : !s -> !part
          %rl = tile.broadcast %r : !row to !part
          %l2 = math.fma %l1, %rl, %sums : !part
          %done = tile_gpu.mma_end %startedO : !tile_gpu.pending<!o> to !o
          tile_gpu.release %vs[%numberV] : !twice
          %ro = tile.broadcast %r : !row to !o
          %scaled = arith.mulf %done, %ro : !o
          %h2 = arith.truncf %p : !s to !p
          %a2 = tile_gpu.mma_begin %scaled : !o to !tile_gpu.pending<!o>
          scf.yield %a2, %h2, %m2, %l2 : !tile_gpu.pending<!o>, !p, !row, !part
        }
        tile_gpu.release %qs[%item] : !once
        %lastItem = arith.addi %firstV, %last : i64
        %tv = tile_gpu.get %vs[%lastItem] : !twice to !block
        %isLater = arith.cmpi sgt, %count, %c1 : i64
        %startedO = tile_gpu.mma %hl, %tv by_columns, %acc if %isLater : !p, !block, !tile_gpu.pending<!o>
        %total = tile.reduce <add> %l over ["lane"] : !part -> !row
        %isSome = arith.cmpf ogt, %total, %zeroRow : !row
        %reciprocal = arith.divf %oneRow, %total : !row
        %inverse = arith.select %isSome, %reciprocal, %zeroRow : tensor<128xi1, #row>, !row
        %o = tile_gpu.mma_end %startedO : !tile_gpu.pending<!o> to !o
        tile_gpu.release %vs[%lastItem] : !twice
        %io = tile.broadcast %inverse : !row to !o
        %mean = arith.mulf %o, %io : !o
        scf.yield %mean : !o
      } else {
        %nothing = tile.broadcast %zero : f32 to !o
        scf.yield %nothing : !o
      }
      tile_gpu.advance %qs by %any : !once
      tile_gpu.advance %ks by %count : !twice
      tile_gpu.advance %vs by %count : !twice
      %rounded = arith.truncf %result : !o to !out
      tile_gpu.send %rounded to %out at #at(%b, %h, %n) : !out to !t at i64, i64, i64
    }
  }
  tile.return
}
