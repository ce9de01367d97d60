//! Conversion between links and their API types.

use stoker_api_types::links::{LinkChangeBody, LinkView, NewLinkBody};
use stoker_model::{Link, LinkBody};

pub(super) fn render_link(link: Link) -> LinkView {
    let LinkBody { title, url, description, hidden } = link.body;
    LinkView { id: link.id.0, title, url, description, hidden }
}

pub(super) fn new_link(body: NewLinkBody) -> LinkBody {
    let NewLinkBody { title, url, description, hidden } = body;
    LinkBody { title, url, description: description.value(), hidden: hidden.unwrap_or(false) }
}

pub(super) fn apply(update: LinkChangeBody, link: &mut LinkBody) {
    if let Some(title) = update.title {
        link.title = title;
    }
    if let Some(url) = update.url {
        link.url = url;
    }
    update.description.apply(&mut link.description);
    link.hidden = update.hidden.unwrap_or(link.hidden);
}
