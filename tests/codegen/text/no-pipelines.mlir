// RUN: tile-opt %s --tile-gpu-build-pipeline -verify-diagnostics -split-input-file

// Why a contraction stays apart from the tensor cores.

// Rows of 4097 elements don't begin where bulk copies can.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4097xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4097xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4097 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4097 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      // expected-remark@+1 {{no tensor cores for it: rows of `a` are not known to begin at multiples of 16 bytes}}
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4097xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4097xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// Nothing is known of how long they are.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      // expected-remark@+1 {{no tensor cores for it: rows of `a` are not known to begin at multiples of 16 bytes}}
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// Half of the columns: copies would bring the others, too.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 2048 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      // expected-remark@+1 {{no tensor cores for it: a part of its tensor is contracted}}
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// The instruction has other elements.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xf32> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xf32> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xf32>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xf32, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xf32>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xf32, #tile.axes<"j", "k">>
      // expected-remark@+1 {{no tensor cores for it: its operands are not both of one type, bf16, f16, tf32, i8, f8e4m3 or f8e5m2}}
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xf32, #tile.axes<"i", "k">>, tensor<128x64xf32, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// And other sizes.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<32x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 32, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 32>, !tile.span<"k", 64>) -> tensor<32x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      // expected-remark@+1 {{no tensor cores for it: a block of its result is not of 64 rows and of 16 columns}}
      %next = tile.dot %x, %y over "k" acc %acc : tensor<32x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 32>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// Rows of 64 bytes.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 32 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 32>) -> tensor<128x32xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 32>) -> tensor<128x32xbf16, #tile.axes<"j", "k">>
      // expected-remark@+1 {{no tensor cores for it: a row of an operand's block is not of 128 bytes}}
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x32xbf16, #tile.axes<"i", "k">>, tensor<128x32xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// Only the left operand can be computed in registers.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %n = arith.negf %y : tensor<128x64xbf16, #tile.axes<"j", "k">>
      // expected-remark@+1 {{no tensor cores for it: its right operand is computed, and tensor cores take only the left one from registers}}
      %next = tile.dot %x, %n over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// Elements that are left out.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %k)[] : !tile.span<"i", 128>, !tile.span<"k", 64>
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      // expected-remark@+1 {{no tensor cores for it: a condition is on its axes}}
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// Two of them.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      // expected-remark@+1 {{no tensor cores for it: there are several contractions in the kernel}}
      %other = tile.dot %x, %y over "k" acc %next : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %other : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// A diagonal of planes: a copy takes one plane.
#at = affine_map<(x, y) -> (x, y)>
#diagonal = affine_map<(x, y) -> (x, x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x?x512xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, m, k)>},
    %b: memref<?x512xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 512 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 512 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      // expected-remark@+1 {{no tensor cores for it: its axes are not its tensor's last two dimensions}}
      %x = tile.load %a at #diagonal(%i, %k) [] <exact> : memref<?x?x512xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x512xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// What is there is added after it was written: columns that follow would read it too early.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "inout", tile.shape = affine_map<()[m, n, k] -> (m, n)>},
    %d: memref<?x?xf32> {tile.name = "d", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    // expected-remark@+1 {{no tensor cores for it: `c` is changed while it is read}}
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
    %again = tile.load %c at #at(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>) -> !acc
    tile.store %again, %d at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// And only from elements that are as wide as it is.
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @k(
    %a: memref<?x4096xf32> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xf32>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xf32, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %n = arith.truncf %x : tensor<128x64xf32, #tile.axes<"i", "k">> to tensor<128x64xbf16, #tile.axes<"i", "k">>
      // expected-remark@+1 {{no tensor cores for it: an operand is computed: in registers it has 16-bit floats, as the tensors have that it is computed from}}
      %next = tile.dot %n, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}
