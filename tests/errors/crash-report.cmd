# A signal that tilec doesn't survive leaves a report and exit code 70.
mkfifo p
sleep 60 > p &
tilec check - < p &
sleep 1
kill -SEGV $!
wait $!
code=$?
kill %1
head -3 tilec-crash-*.txt
exit $code
