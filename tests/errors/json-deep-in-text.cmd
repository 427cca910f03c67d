# Brackets in texts close nothing: what nests deeply is refused, not followed.
python3 - <<'EOF'
n = 50000
open("softmax.tuned.json", "w").write('{"a": "' + "]" * n + '\\\\\\"", "b": ' + "[" * n + "]" * n + "}")
open("other.tuned.json", "w").write('{"tuned": 1, "schedules": [{"kernel": "' + "[" * 50 + '"}]}')
EOF
cp $KERNELS/softmax.tile .
cp $KERNELS/softmax.tile other.tile
tilec run softmax.tile --in x=ones:3x3:f32
echo "exit code: $?"
mv softmax.tuned.json plan.json
printf 'import "softmax.tile"\ngraph g(x: f32[M, N]) -> (y: f32[M, N]) {\n    y = softmax(x)\n}\n' > g.tile
tilec run g.tile --in x=ones:3x3:f32 --pin plan.json
echo "exit code: $?"
# In texts, brackets are nothing.
tilec run other.tile --in x=ones:3x3:f32
