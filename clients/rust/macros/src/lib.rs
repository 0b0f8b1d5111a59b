//! The attribute of the crate kubefake. It reads the function itself, so that the crate has no
//! dependencies.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Makes a test of an asynchronous function. Each parameter is of the server of the test.
///
/// The argument is an expression for the options of the server.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(options, function).unwrap_or_else(|message| format!("compile_error!({message:?});").parse().unwrap())
}

fn expand(options: TokenStream, function: TokenStream) -> Result<TokenStream, &'static str> {
    const FORM: &str = "#[kubefake::test] needs a function: async fn name(server: Server) { ... }";
    let mut tokens = function.into_iter();
    let attributes: TokenStream = tokens.by_ref().take_while(|t| t.to_string() != "async").collect();
    if tokens.next().ok_or(FORM)?.to_string() != "fn" {
        return Err(FORM);
    }
    let name = tokens.next().ok_or(FORM)?;
    let parameters = match tokens.next() {
        Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis => g,
        _ => return Err(FORM),
    };
    let rest: TokenStream = tokens.collect(); // the type that it returns, and its body
    let result: TokenStream = rest.clone().into_iter().take_while(|t| !is_body(t)).collect();
    let options = if options.is_empty() { "::kubefake::Options::new()".to_string() } else { options.to_string() };
    let argument = |t| format!("<{t} as ::kubefake::FromServer>::from_server(&server).await, ");
    let arguments: String = types(parameters.stream()).iter().map(argument).collect();
    let outer = format!(
        "{attributes} #[::core::prelude::v1::test] fn {name}() {result} {{ \
         ::kubefake::run({options}, |server| async move {{ {name}({arguments}).await }}) }}"
    );
    // The function keeps its tokens, so that errors show their place in the source.
    let mut inner: TokenStream = "async fn".parse().unwrap();
    inner.extend([name, TokenTree::Group(parameters)]);
    inner.extend(rest);
    let outer: TokenStream = outer.parse().map_err(|_| FORM)?;
    Ok(outer
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => {
                let mut body = inner.clone();
                body.extend(g.stream());
                TokenTree::Group(proc_macro::Group::new(Delimiter::Brace, body))
            }
            other => other,
        })
        .collect())
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace)
}

/// The types of parameters. A comma in angle brackets separates none.
fn types(parameters: TokenStream) -> Vec<TokenStream> {
    let mut types = Vec::new();
    let (mut current, mut in_type, mut depth) = (TokenStream::new(), false, 0);
    for token in parameters {
        match token.to_string().as_str() {
            "," if depth == 0 => {
                types.push(std::mem::take(&mut current));
                in_type = false;
                continue;
            }
            ":" if !in_type => {
                in_type = true;
                continue;
            }
            "<" => depth += 1,
            ">" => depth -= 1,
            _ => {}
        }
        if in_type {
            current.extend([token]);
        }
    }
    if in_type {
        types.push(current);
    }
    types
}
