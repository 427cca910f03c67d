# Descriptions of devices: one that isn't there, files that are none.
tilec info --device=h20
tilec info --device=nothing
tilec info --device=missing.json
echo '{"name": "a", "name": "b"}' > twice.json
tilec info --device=twice.json
printf '{\n  "name": oops\n}' > broken.json
tilec info --device=broken.json
tilec info --device=h200 --devices
tilec info --device=h200 | head -3
TILE_CUDA_DRIVER=none tilec info --device=cuda | head -1
tilec info --device=cpu | head -1
