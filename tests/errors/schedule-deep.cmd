# Nothing that a schedule can't have is read to its end, however deep it goes.
head -c 200000 /dev/zero | tr '\0' '[' > s.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule s.json
(echo '{"softmax": {"i": '; cat s.json) > t.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule t.json
(yes '{"i":' | head -n 100000) > u.json
tilec run $KERNELS/softmax.tile --device=interp --in x=ones:1x2:f32 --schedule u.json
