//! The life of one request, top to bottom.
