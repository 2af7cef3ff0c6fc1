export OPENAI_API_BASE_URL=http://127.0.0.1:8080/v1
export OPENAI_API_KEY=YOUR_PHIGATE_KEY
export ENABLE_OLLAMA_API=false
open-webui serve
