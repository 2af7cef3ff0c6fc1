phigate provider set litellm --kind openai \
  --base-url http://127.0.0.1:4000 \
  --models 'litellm-*' --key-stdin < litellm-key.txt
