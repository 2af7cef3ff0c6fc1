curl http://127.0.0.1:8080/v1/chat/completions \
  -H "Authorization: Bearer YOUR_PHIGATE_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "gpt-4o",
    "messages": [
      {"role": "user", "content": "Say hello."}
    ]
  }'
