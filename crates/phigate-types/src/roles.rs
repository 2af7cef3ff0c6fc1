//! Set of roles: those of a person, whose rights are the rights of each together.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::role::{Right, Rights, Role};

/// Set of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u8);

impl Roles {
    /// Whether a role is in the set.
    pub const fn has(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The roles, from the most rights to the fewest.
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::all().filter(move |role| self.has(*role))
    }

    /// The first role; without any, the one with the fewest rights.
    pub fn first(self) -> Role {
        self.iter().next().unwrap_or(Role::Viewer)
    }

    /// Rights of all roles together.
    pub fn rights(self) -> Rights {
        self.iter().fold(Rights::default(), |rights, role| {
            rights.union(role.rights())
        })
    }

    /// Whether any role has a right.
    pub fn may(self, right: Right) -> bool {
        self.rights().has(right)
    }

    /// Codes, such as "operator, auditor".
    pub fn codes(self) -> String {
        self.iter().map(Role::code).collect::<Vec<_>>().join(", ")
    }

    /// Labels, such as "Operator, Auditor".
    pub fn labels(self) -> String {
        self.iter().map(Role::label).collect::<Vec<_>>().join(", ")
    }
}

impl From<Role> for Roles {
    fn from(role: Role) -> Self {
        [role].into_iter().collect()
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<T: IntoIterator<Item = Role>>(roles: T) -> Self {
        Self(
            roles
                .into_iter()
                .fold(0, |bits, role| bits | 1 << role as u8),
        )
    }
}

/// Writes `role`, the first one, and `roles`, all of them.
impl Serialize for Roles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let roles: Vec<Role> = self.iter().collect();
        let mut fields = serializer.serialize_struct("Roles", 2)?;
        fields.serialize_field("role", &self.first())?;
        fields.serialize_field("roles", &roles)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_together_have_rights_of_each() {
        let both: Roles = [Role::Auditor, Role::Operator].into_iter().collect();
        assert!(both.may(Right::Configure) && both.may(Right::Reveal));
        assert!(!both.may(Right::People));
        assert_eq!(both.codes(), "operator, auditor");
        assert_eq!(both.first(), Role::Operator);
    }

    #[test]
    fn no_roles_have_no_rights() {
        let none = Roles::default();
        assert!(none.is_empty() && Right::all().all(|right| !none.may(right)));
    }

    #[test]
    fn json_has_first_role_and_all() {
        let both: Roles = [Role::Viewer, Role::Auditor].into_iter().collect();
        let json = serde_json::to_value(both).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"role": "auditor", "roles": ["auditor", "viewer"]})
        );
    }
}
