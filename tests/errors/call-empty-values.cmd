# An option without its value doesn't take the word after it.
for option in --in --dim --set --bind --device --schedule --entry --repeat --rtol --sweep-tiles --color; do
  tilec run $KERNELS/softmax.tile $option= --check
done
for option in -o --emit --target --dim --stop-after --print-after; do
  tilec compile $KERNELS/softmax.tile $option= --no-cache
done
for option in --plot --runs --warmups --device; do
  tilec bench $KERNELS/softmax.tile $option= --warm
done
tilec info --device= $KERNELS/softmax.tile
tilec check -I= $KERNELS/softmax.tile
tilec fmt --error-limit= $KERNELS/softmax.tile
tilec cache --json= ls
tilec run $KERNELS/softmax.tile --in ''
tilec compile $KERNELS/softmax.tile --emit=ast -o ''
tilec run ''
tilec ''
