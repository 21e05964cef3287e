use super::*;
use crate::bundle::pack;
use crate::bundle::testing::{bundle, versioned};
use crate::live::bundles::{NewKey, SigningKey, generate};
use proptest::prelude::*;
use std::sync::LazyLock;

struct Pair {
    signing: SigningKey,
    trusted: TrustedKey,
}

fn pair() -> Pair {
    let NewKey { public, secret } = generate(None).unwrap();
    Pair {
        signing: SigningKey::open(&secret, || panic!("it has no password")).unwrap(),
        trusted: TrustedKey::parse("acme.pub", &public).unwrap(),
    }
}

fn packed(bundle: &Bundle) -> Vec<u8> {
    pack(&bundle.manifest, &bundle.files).unwrap()
}

#[test]
fn a_key_is_known_by_the_number_that_minisign_shows() {
    // The key of minisign's own documentation; its number is the bytes 1f e8 b4 42 18 0f 62 e7,
    // read from the last to the first.
    let text = "untrusted comment: minisign public key\n\
                RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n";
    let key = TrustedKey::parse("m.pub", text).unwrap();
    assert_eq!(key.id.to_string(), "E7620F1842B4E81F");
    for text in ["", "one line", "a\nRWQf6LRC", "a\nüüüüüüüüüüüüüüüü", "a\n\n"] {
        let said = TrustedKey::parse("m.pub", text).unwrap_err().to_string();
        assert!(said.contains("no minisign public key") && said.contains("m.pub"), "{said}");
    }
}

#[test]
fn an_unknown_key_is_named_and_so_are_those_that_are_trusted() {
    let (one, other) = (pair(), pair());
    let bundle = bundle(&[("a", "b")]);
    let packed = packed(&bundle);
    let text = one.signing.sign(&packed, &bundle).unwrap();
    let keys = [other.trusted.clone()];
    let said = verify(&packed, &text, &keys).unwrap_err().to_string();
    let (id, trusted) = (one.trusted.id.to_string(), other.trusted.id.to_string());
    assert!(said.contains(&format!("the key {id}, which is not trusted")), "{said}");
    assert!(said.contains(&format!("trusted are {trusted}")), "{said}");
    let said = verify(&packed, &text, &[]).unwrap_err().to_string();
    assert!(said.contains("no key is trusted here"), "{said}");
    let keys = [other.trusted, one.trusted];
    assert_eq!(verify(&packed, &text, &keys).unwrap().key.to_string(), id);
}

#[test]
fn the_signature_of_another_bundle_or_of_other_bytes_does_not_hold() {
    let Pair { signing, trusted } = pair();
    let keys = [trusted];
    let (old, new) = (bundle(&[("a", "b")]), versioned("1.1.0", &[("a", "b")]));
    let text = signing.sign(&packed(&old), &old).unwrap();
    let said = verify(&packed(&new), &text, &keys).unwrap_err().to_string();
    assert!(said.contains("was changed after it was signed"), "{said}");
    // A comment that speaks of another bundle, over the right bytes.
    let text = signing.sign(&packed(&new), &old).unwrap();
    let said = verify(&packed(&new), &text, &keys).unwrap().is_for(&new).unwrap_err().to_string();
    assert!(said.contains("made for another bundle") && said.contains("acme 1.0.0"), "{said}");
    // A comment of another tool, over the right bytes.
    let foreign = minisign_comment(&packed(&new), &keys[0]);
    assert!(foreign.is_for(&new).is_ok());
}

/// What `minisign -S` says in place of ours.
fn minisign_comment(_: &[u8], key: &TrustedKey) -> Signed {
    let comment = "timestamp:1633700835\tfile:acme.bwmon\thashed".to_owned();
    Signed { key_file: key.file.clone(), key: key.id, comment }
}

static SIGNED: LazyLock<(Vec<u8>, String, TrustedKey)> = LazyLock::new(|| {
    let Pair { signing, trusted } = pair();
    let bundle = bundle(&[("a", "b")]);
    let packed = packed(&bundle);
    let text = signing.sign(&packed, &bundle).unwrap();
    (packed, text, trusted)
});

proptest! {
    #[test]
    fn any_byte_of_a_signature_that_is_changed_is_noticed(at in any::<usize>(), to in 1u8..127) {
        let (packed, text, key) = &*SIGNED;
        let mut bytes = text.clone().into_bytes();
        let comment_end = text.find('\n').unwrap();
        let at = at % bytes.len();
        if bytes[at] == to {
            return Ok(());
        }
        bytes[at] = to;
        let changed = String::from_utf8(bytes).unwrap();
        // The first line is untrusted by name, the line ends mean nothing.
        let ends = text.trim_end().len();
        if verify(packed, &changed, std::slice::from_ref(key)).is_ok() {
            prop_assert!(at <= comment_end || at >= ends || text.as_bytes()[at] == b'\n', "{}", changed);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(.{0,90}\n){0,5}", cut in 0usize..400) {
        let (packed, good, key) = &*SIGNED;
        let keys = std::slice::from_ref(key);
        prop_assert!(verify(packed, &text, keys).is_err());
        let _ = TrustedKey::parse("k", &text);
        if let Some(part) = good.get(..cut) {
            let _ = verify(packed, part, keys);
        }
    }
}
