# Graphs that call graphs stand for all that those launch.
python3 - <<'EOF'
def write(name, levels, call):
    text = "kernel g0(x: f32[N]) -> (y: f32[N]) {\n    parallel i in tiles(N) {\n        y[i] = x[i] + 1\n    }\n}\n"
    for n in range(1, levels + 1):
        text += f"graph g{n}(x: f32[N]) -> (y: f32[N]) {{\n    y = {call(n)}\n}}\n"
    open(name, "w").write(text)
write("doubles.tile", 26, lambda n: f"g{n - 1}(g{n - 1}(x))")
write("deep.tile", 20000, lambda n: f"g{n - 1}(x)")
write("fine.tile", 120, lambda n: f"g{n - 1}(x)")
EOF
timeout 20 tilec check doubles.tile
timeout 20 tilec run doubles.tile:g26 --in x=ones:3:f32
echo "exit code: $?"
timeout 20 tilec run deep.tile:g20000 --in x=ones:3:f32
echo "exit code: $?"
timeout 20 tilec run fine.tile:g120 --in x=ones:3:f32
