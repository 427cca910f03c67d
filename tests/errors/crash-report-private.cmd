# A report is a new file, for the user alone, and follows no link.
echo kept > target
mkfifo p
sleep 60 > p &
tilec check - < p &
pid=$!
sleep 1
ln -s target tilec-crash-$pid.txt
kill -SEGV $pid
wait $pid
echo "exit code: $?"
kill %1
cat target
stat -c '%a, %F' /tmp/tilec-crash-$pid.txt
rm -f /tmp/tilec-crash-$pid.txt
