# The author answers for a grid kernel; the interpreter looks.
for entry in reads_on adds_below every_other; do
  tilec run $KERNELS/grid.tile --entry $entry --device=interp --in x=arange:6:f32 $([ $entry = every_other ] || echo --in y=zeros:6:f32)
done
tilec run $KERNELS/grid.tile --entry careless --device=interp --in x=arange:7:i64 --in y=zeros:5:f32
