(head -c 10000000 /dev/zero | tr '\0' 'a'; echo ' = ') > l.tile; tilec check l.tile
