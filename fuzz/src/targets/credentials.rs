//! Credentials of callers and owners: API keys, page cursors, keys and secrets of providers.

use phigate_auth::Scheme;
use phigate_store::Cursor;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "credentials",
    run,
    seeds: &[
        b"phg_abcdefghijkl_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGxyzabc",
        b"Bearer phg_abcdefghijkl_0",
        b"18c5a0b7e4f00.0190000000007000800000000000000000",
        br#"{"access_key_id":"AKIAEXAMPLE","secret_access_key":"a/b+c","session_token":"t"}"#,
        br#"{"type":"service_account","client_email":"a@b.example","private_key":"-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n","token_uri":"https://oauth2.example/token"}"#,
    ],
};

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(id) = phigate_store::fuzzing::public_id(text) {
        assert!(id.len() == 12 && text.len() == 66);
    }
    if let Some(cursor) = Cursor::decode(text) {
        assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
    }
    let _ = phigate_gateway::check_key(text);
    let aws = Scheme::Aws {
        region: "eu-west-1".to_owned(),
        token_url: None,
    };
    // Errors contain field names, which may occur in an input, so each string gets a marker that must not appear.
    let marked = text.replace('"', "\"7f3aq");
    for scheme in [aws, Scheme::Google { token_url: None }] {
        let _ = scheme.check_secret(text);
        if let Err(error) = scheme.check_secret(&marked) {
            assert!(
                !error.to_string().contains("7f3aq"),
                "an error quotes a secret"
            );
        }
    }
}
