# A chain of imports ends before the stack does; a link to the file's own folder is the same file.
python3 - <<'EOF'
for n in range(20000):
    open(f"f{n}.tile", "w").write(f'import "f{n + 1}.tile"\nmap m{n}(x: f32) -> f32 = x\n')
open("f20000.tile", "w").write("map m20000(x: f32) -> f32 = x\n")
open("wide.tile", "w").write("".join(f'import "w{n}.tile"\n' for n in range(2000)))
for n in range(2000):
    open(f"w{n}.tile", "w").write(f"map w{n}(x: f32) -> f32 = x\n")
open("again.tile", "w").write('import "self/again.tile"\nmap again(x: f32) -> f32 = x\n')
EOF
ln -s . self
tilec check f0.tile
echo "exit code: $?"
tilec check f19900.tile wide.tile again.tile
