//! The block `model` of the settings: who may name one, and every mistake in it.

use hook_config::{Loaded, ModelChoice};
use hook_core::{ModelProvider, ModelSettings};
use serde_json::{Value, json};

use crate::common::*;

const USER: &str = "~/.config/hook/hooks.json";

fn of(file: &str, model: &Value) -> Loaded {
    load_from(&tree([(file, json!({"settings": {"model": model}}).to_string())]), &[], Value::Null)
}

fn settings(
    provider: ModelProvider,
    base_url: &str,
    key: Option<&str>,
    tokens: Option<u32>,
) -> ModelSettings {
    ModelSettings {
        provider,
        model: "m-1".into(),
        base_url: base_url.into(),
        key_variable: key.map(String::from),
        max_tokens: tokens,
    }
}

#[test]
fn a_model_of_a_service_and_one_of_a_local_server() {
    let service = of(USER, &json!({"provider": "anthropic", "model": "m-1", "apiKeyEnv": "A_KEY"}));
    let expected = settings(ModelProvider::Anthropic, "https://api.anthropic.com", Some("A_KEY"), None);
    assert_eq!((found(&service), service.settings.model.named().cloned()), (vec![], Some(expected)));

    let local = of(
        "/etc/hook/hooks.json",
        &json!({"provider": "openai-compatible", "model": "m-1", "baseUrl": "http://localhost:11434/v1", "max_tokens": 9}),
    );
    let expected = settings(ModelProvider::OpenAiCompatible, "http://localhost:11434/v1", None, Some(9));
    assert_eq!((found(&local), local.settings.model.named().cloned()), (vec![], Some(expected)));
}

#[test]
fn no_project_says_who_is_asked() {
    let model = json!({"provider": "openai-compatible", "model": "theirs", "baseUrl": "https://theirs.test"});
    for file in [".hooks/hooks.json", ".hooks/hooks.local.json"] {
        let loaded = of(file, &model);
        assert_eq!(found(&loaded), ["setting-not-allowed-here /settings/model"], "{file}");
        assert_eq!(loaded.settings.model, ModelChoice::Unsaid, "{file}");
    }
}

#[test]
fn the_file_of_most_authority_names_the_whole_model() {
    let with = |model: &str, more: Value| {
        let mut block = json!({"provider": "openai-compatible", "model": model, "baseUrl": "https://a.test"});
        block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"settings": {"model": block}}).to_string()
    };
    let files =
        [("/etc/hook/hooks.json", with("m-1", json!({}))), (USER, with("u", json!({"maxTokens": 5})))];
    let loaded = load_from(&tree(files), &[], Value::Null);
    let expected = settings(ModelProvider::OpenAiCompatible, "https://a.test", None, None);
    assert_eq!((found(&loaded), loaded.settings.model.named().cloned()), (vec![], Some(expected)));
}

#[test]
fn every_bad_member_is_found_and_leaves_no_half_of_a_model() {
    let with = |name: &str, value: Value| {
        let mut block = json!({"provider": "anthropic", "model": "m-1", "apiKeyEnv": "A_KEY"});
        block[name] = value;
        block
    };
    for (block, findings) in [
        (json!("m-1"), vec!["wrong-type "]),
        (json!({}), vec!["model-unusable ", "model-unusable "]),
        (json!({"provider": "anthropic", "model": "m-1"}), vec!["model-unusable "]),
        (json!({"provider": "openai-compatible", "model": "m-1"}), vec!["model-unusable "]),
        (with("provider", json!("other")), vec!["model-unusable /provider"]),
        (with("model", json!(" ")), vec!["model-unusable /model"]),
        (with("baseUrl", json!(1)), vec!["model-unusable /baseUrl"]),
        (with("baseUrl", json!("api.test")), vec!["model-unusable /baseUrl"]),
        (with("baseUrl", json!("https://u:p@api.test")), vec!["model-unusable /baseUrl"]),
        (with("baseUrl", json!("https://api.test/?k=1")), vec!["model-unusable /baseUrl"]),
        (with("apiKeyEnv", json!("sk-s3cret")), vec!["model-unusable /apiKeyEnv"]),
        (with("apiKeyEnv", json!("")), vec!["model-unusable /apiKeyEnv"]),
        (with("apiKeyEnv", json!(null)), vec!["model-unusable /apiKeyEnv"]),
        (with("maxTokens", json!(0)), vec!["model-unusable /maxTokens"]),
        (with("maxTokens", json!(1.5)), vec!["model-unusable /maxTokens"]),
        (with("maxTokens", json!(5_000_000_000_u64)), vec!["model-unusable /maxTokens"]),
    ] {
        let loaded = of(USER, &block);
        let expected: Vec<String> =
            findings.iter().map(|finding| finding.replace(' ', " /settings/model")).collect();
        assert_eq!(found(&loaded), expected, "{block}");
        assert_eq!(loaded.settings.model, ModelChoice::Unusable, "{block}");
        assert!(!format!("{:?}", loaded.diagnostics).contains("s3cret"), "{block}");
    }
    let loaded = of(USER, &with("apiKey", json!("sk-s3cret")));
    assert_eq!(found(&loaded), ["unknown-field /settings/model/apiKey"]);
    assert!(loaded.settings.model.named().is_some());
}

#[test]
fn the_users_model_took_the_place_of_an_unusable_managed_one() {
    let managed = json!({"settings": {"model": {"provider": "anthropic"}}}).to_string();
    let user = json!({"settings": {"model": {"provider": "openai-compatible", "model": "u", "baseUrl": "https://a.test"}}});
    let loaded =
        load_from(&tree([("/etc/hook/hooks.json", managed), (USER, user.to_string())]), &[], Value::Null);
    assert_eq!(loaded.settings.model, ModelChoice::Unusable);
}

#[test]
fn a_key_went_over_plain_http_to_another_machine_without_a_word() {
    for (url, told) in [
        ("http://models.test/v1", true),
        ("HTTP://192.168.1.9:8080", true),
        ("http://[2001:db8::1]/v1", true),
        ("http://localhost.evil.test", true),
        ("http://127.0.0.1.evil.test", true),
        ("https://models.test/v1", false),
        ("http://localhost:11434/v1", false),
        ("http://127.8.0.1", false),
        ("http://[::1]:8080/v1", false),
    ] {
        let mut model = json!({"provider": "openai-compatible", "model": "m-1", "baseUrl": url});
        assert_eq!(found(&of(USER, &model)), Vec::<String>::new(), "{url}");
        model["apiKeyEnv"] = "A_KEY".into();
        let loaded = of(USER, &model);
        let expected = if told { vec!["model-key-in-the-clear /settings/model/baseUrl"] } else { vec![] };
        assert_eq!(found(&loaded), expected, "{url}");
        assert!(loaded.settings.model.named().is_some(), "{url}");
    }
}
