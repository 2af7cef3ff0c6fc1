export PHIGATE_KEY=YOUR_PHIGATE_KEY
codex exec "Say hello."
