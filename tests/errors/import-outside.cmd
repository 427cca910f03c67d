# A source says which files are read: none but regular ones below its folder and those of -I.
mkdir -p in/sub lib away
echo 'map twice(x: f32) -> f32 = 2 * x' > away/away.tile
cp away/away.tile in/sub/mine.tile
cp away/away.tile lib/lib.tile
ln -s ../../away/away.tile in/sub/link.tile
mkfifo in/pipe
ln -s /dev/zero in/zero
echo 'secret=hunter2' > away/secrets
write() {
  printf 'import "%s"\ngraph g(x: f32[N]) -> (y: f32[N]) {\n    y = twice(x)\n}\n' "$1"
}
for import in /dev/zero /proc/self/environ ../away/away.tile ../away/secrets ../away/missing \
  sub/link.tile pipe zero sub ../lib/lib.tile sub/mine.tile; do
  write "$import" > in/main.tile
  timeout 20 tilec check in/main.tile
  echo "exit code: $?"
done
write ../away/away.tile > in/main.tile
for flags in "-I lib" "-I away" "-I ." --allow-imports-outside; do
  tilec check $flags in/main.tile
  echo "$flags: exit code: $?"
done
# Let in from anywhere are regular files, too.
write /dev/zero > in/main.tile
timeout 20 tilec check --allow-imports-outside in/main.tile
echo "exit code: $?"
# From standard input, the folder is the current one.
write sub/mine.tile > in/text
cd in
tilec check - < text
echo "exit code: $?"
cd sub
tilec check - < ../main.tile
