echo one
echo "answer of $SERVER"
