//! Setting, trying and turning off single sign-on, from the page about signing in.

use axum::extract::State;
use phigate_store::SecretString;

use super::sign_in::{ADDRESS, Drawn, draw};
use super::sign_on_fields::{CheckRow, SignOnFields};
use crate::Dash;
use crate::visit::{Answer, PageError, SignedIn, redirect};

/// Most bytes of a client secret.
const SECRET_BYTES_MAX: usize = 4_096;

/// `POST /settings/sign-in/sso`
pub(crate) async fn save(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    let typed = SignOnFields::typed(form);
    let secret = form.get("client_secret");
    let config = typed.config(dash.gateway.setup_rules().allow_private);
    let config = match config {
        Ok(_) if secret.len() > SECRET_BYTES_MAX => Err(format!(
            "The client secret has at most {SECRET_BYTES_MAX} bytes."
        )),
        config => config,
    };
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            let drawn = Drawn {
                error: Some(error),
                typed: Some(typed),
                checks: Vec::new(),
            };
            return draw(&dash, &visit, drawn).await;
        }
    };
    if form.is_ticked("break_glass") {
        mark(&dash, &visit).await?;
    }
    let secret = (!secret.is_empty()).then(|| SecretString::new(secret.to_owned()));
    let (sign_on, account) = (&dash.vault.sign_on, visit.account_id());
    let set = sign_on.set(account, &config, secret.as_ref(), visit.actor());
    set.await?;
    Ok(redirect(&format!("{ADDRESS}?done=sso")))
}

/// Marks the acting owner as break-glass, so that their password goes on working.
async fn mark(dash: &Dash, visit: &SignedIn) -> Result<(), PageError> {
    let user = &visit.session.user;
    if !user.is_owner() || !visit.has_password() || user.break_glass {
        return Ok(());
    }
    let (people, session) = (&dash.vault.people, Some(visit.session.id.as_str()));
    let key = user.key();
    let marked = people.set_break_glass(visit.account_id(), key, true, session, visit.actor());
    Ok(marked.await?)
}

/// `POST /settings/sign-in/sso/test`: tries the settings that are stored.
pub(crate) async fn test(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let account = visit.account_id();
    let setup = dash.vault.sign_on.setup(account).await?;
    let setup = setup.ok_or(PageError::NotFound)?;
    let single_sign_on = dash.gateway.single_sign_on();
    let mut checks = single_sign_on.checks(&setup).await;
    checks.extend(single_sign_on.last_failure(account).await?);
    let drawn = Drawn {
        error: None,
        typed: None,
        checks: checks.into_iter().map(CheckRow::from).collect(),
    };
    draw(&dash, &visit, drawn).await
}

/// `POST /settings/sign-in/sso/off`
pub(crate) async fn turn_off(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let sign_on = &dash.vault.sign_on;
    sign_on.remove(visit.account_id(), visit.actor()).await?;
    Ok(redirect(&format!("{ADDRESS}?done=sso-off")))
}
