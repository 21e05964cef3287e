//! Keys that sign: made, kept in minisign's format, used.

use crate::bundle::{Bundle, comment};
use minisign::{KeyPair, SecretKey, SecretKeyBox};
use std::io::Cursor;

/// The two halves of a new key, as files hold them.
pub struct NewKey {
    /// For the machines that are to trust it.
    pub public: String,
    /// For whoever signs.
    pub secret: String,
}

/// Makes a key. Without a password its secret half is as good as plain text.
///
/// # Errors
/// When the system gives no random bytes.
pub fn generate(password: Option<String>) -> anyhow::Result<NewKey> {
    let comment = Some("minisign secret key of bwmon bundles");
    let pair = match password {
        Some(password) => KeyPair::generate_encrypted_keypair(Some(password))?,
        None => KeyPair::generate_unencrypted_keypair()?,
    };
    Ok(NewKey {
        public: pair.pk.to_box()?.into_string(),
        secret: pair.sk.to_box(comment)?.into_string(),
    })
}

/// A secret key that can sign.
pub struct SigningKey(SecretKey);

impl SigningKey {
    /// The secret key in `text`; `password` is asked for one that has a password.
    ///
    /// # Errors
    /// When it is none, or the password is wrong.
    pub fn open(
        text: &str,
        password: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<Self> {
        let boxed = || SecretKeyBox::from_string(text);
        match SecretKey::from_unencrypted_box(boxed()?) {
            Ok(key) => Ok(Self(key)),
            // The one thing that tells the two kinds apart.
            Err(error) if error.to_string().contains("encrypted") => {
                Ok(Self(SecretKey::from_box(boxed()?, Some(password()?))?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The signature of the packed `bundle`, as its file holds it.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn sign(&self, packed: &[u8], bundle: &Bundle) -> anyhow::Result<String> {
        let trusted = comment(bundle);
        let note = Some("signature of a bwmon bundle");
        let signed = minisign::sign(None, &self.0, Cursor::new(packed), Some(&trusted), note)?;
        Ok(signed.into_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{TrustedKey, Unsigned, verify};

    #[test]
    fn a_key_with_a_password_signs_what_its_public_half_verifies() {
        let NewKey { public, secret } = generate(Some("sesame".into())).unwrap();
        let asked = SigningKey::open(&secret, || Ok("Sesame".into()));
        assert!(asked.is_err_and(|error| error.to_string().contains("password")));
        let key = SigningKey::open(&secret, || Ok("sesame".into())).unwrap();
        let bundle = crate::bundle::testing::bundle(&[("a", "b")]);
        let packed = crate::bundle::pack(&bundle.manifest, &bundle.files).unwrap();
        let signature = key.sign(&packed, &bundle).unwrap();
        let trusted = TrustedKey::parse("k.pub", &public).unwrap();
        let signed = verify(&packed, &signature, std::slice::from_ref(&trusted)).unwrap();
        assert_eq!(signed.key, trusted.id);
        signed.is_for(&bundle).unwrap();
        // The id is the one that minisign itself writes into the comment of a public key.
        assert!(public.contains(&trusted.id.to_string()), "{public} {}", trusted.id);
        assert_eq!(
            verify(&packed, &signature, &[]),
            Err(Unsigned::UnknownKey { id: trusted.id, trusted: vec![] })
        );
    }

    #[test]
    fn what_is_no_secret_key_is_an_error() {
        for text in ["", "a", "a\nb", "a\nRWQf6LRC", "untrusted comment: x\n\n\n"] {
            assert!(SigningKey::open(text, || Ok(String::new())).is_err(), "{text:?}");
        }
    }
}
