echo "server $SERVER"
echo "namespace ${NS%%-*}"
