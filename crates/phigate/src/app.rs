//! What a running gateway holds: settings, store, detector, providers.
