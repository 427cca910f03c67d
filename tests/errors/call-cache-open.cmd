mkdir -m 1777 shared
mkdir -m 755 readable
for folder in shared readable; do
  TILE_CACHE_DIR=$folder tilec cache ls
  echo "exit code: $?"
done
