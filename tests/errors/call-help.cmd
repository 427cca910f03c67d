tilec help cache
tilec help fmt | head -3
tilec help | head -4
tilec help | sed -n '/^Exit/,$p'
tilec help rnu
echo "exit code: $?"
tilec help help
