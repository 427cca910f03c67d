# Graphs that aren't any, and those that only look so: told before anything is fused, or fused to the same result.
cat > bad.tile <<'END'
import std.nn
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
}
kernel add2(x: f32[N], y: f32[N]) -> (z: f32[N]) {
    parallel i in tiles(N) { z[i] = x[i] + y[i] }
}
kernel bump(inout x: f32[N]) -> () {
    parallel i in tiles(N) { x[i] = x[i] + 1 }
}
graph ranks(x: f32[4, 8], y: f32[5]) -> (z: f32[5]) {
    z = add2(twice(y), x)
}
graph extents(x: f32[4], y: f32[5]) -> (z: f32[5]) {
    z = add2(relu(x), y)
}
graph literals(x: f32[3]) -> (z: f32[4]) {
    z = twice(x)
}
graph longer(x: f32[N]) -> (z: f32[N + 1]) {
    z = twice(x)
}
kernel of_four(x: f32[4]) -> (y: f32[4]) {
    parallel i in tiles(4) { y[i] = x[i] }
}
graph of_three(x: f32[3]) -> (y: f32[4]) {
    y = of_four(x)
}
graph needs_more(x: f32[N]) -> (y: f32[N]) requires N > 5000 {
    y = twice(x)
}
graph types(x: f32[N], i: i32[N]) -> (z: f32[N]) {
    z = add2(x, i)
}
graph unassigned(x: f32[N]) -> (y: f32[N], z: f32[N]) {
    y = twice(x)
}
graph assigned_twice(x: f32[N]) -> (y: f32[N]) {
    y = twice(x)
    y = relu(x)
}
graph cycle(x: f32[N]) -> (y: f32[N]) {
    let t = add2(x, u)
    let u = twice(t)
    y = u
}
graph statement(x: f32[N]) -> (y: f32[N]) {
    bump(x)
    y = twice(x)
}
kernel two(x: f32[N]) -> (y: f32[N], z: f32[N]) {
    parallel i in tiles(N) {
        y[i] = x[i]
        z[i] = x[i]
    }
}
graph too_many_names(x: f32[N]) -> (y: f32[N]) {
    let (a, b, c) = two(x)
    y = a
}
graph too_few_names(x: f32[N]) -> (y: f32[N]) {
    let h = two(x)
    y = h
}
graph input_assigned(x: f32[N]) -> (y: f32[N]) {
    x = twice(x)
    y = x
}
graph no_let(x: f32[N]) -> (y: f32[N]) {
    between = twice(x)
    y = between
}
graph in_part(x: f32[N]) -> (y: f32[N]) {
    y[0] = twice(x)
}
graph arguments(x: f32[N]) -> (y: f32[N]) {
    y = add2(twice(x, x))
}
graph argument(x: f32[N]) -> (y: f32[N]) {
    y = add2(x)
}
graph changed_twice(x: f32[N]) -> (y: f32[N], z: f32[N]) {
    let t = twice(x)
    let u = bump(t)
    let v = bump(u)
    y = add2(u, v)
    z = add2(t, u)
}
graph unused(x: f32[N]) -> (y: f32[N]) {
    let t = twice(x)
    let u = bump(t)
    y = relu(x)
}
END
for graph in ranks extents literals longer of_three needs_more types unassigned assigned_twice cycle statement \
    too_many_names too_few_names input_assigned no_let in_part arguments argument; do
    tilec fuse bad.tile:$graph
done
for graph in changed_twice unused; do
    tilec fuse bad.tile:$graph --device=h200
    for mode in off exact; do
        tilec run bad.tile:$graph --in x=arange:3:f32 --fuse=$mode --device=interp
    done
done
# Devices that nothing is known of.
echo '{' > broken.json
echo '{"name": "toy", "title": "toy", "kind": "spoon"}' > toy.json
for device in none.json broken.json toy.json interp; do
    tilec fuse bad.tile:unused --device=$device
done
# Names that come together are bound first; parsing ends there.
cat > together.tile <<'END'
kernel two(x: f32[N]) -> (y: f32[N], z: f32[N]) {
    parallel i in tiles(N) {
        y[i] = x[i]
        z[i] = x[i]
    }
}
graph both(x: f32[N]) -> (y: f32[N], z: f32[N]) {
    (y, z) = two(x)
}
END
tilec fuse together.tile
# Which graph, of several; and none.
tilec fuse bad.tile
printf 'kernel only(x: f32[N]) -> (y: f32[N]) {\n parallel i in tiles(N) { y[i] = x[i] }\n}\n' > only.tile
tilec fuse only.tile
