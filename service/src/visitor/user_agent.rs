//! The facts in a `User-Agent` header, found in one pass: taps read it all the time.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::OperatingSystem;

/// What a program says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserAgent {
    /// The system it runs on.
    pub operating_system: OperatingSystem,
    /// Whether it opens links to show or index them, with nobody waiting for the page.
    pub previews_links: bool,
}

/// The words that tell a system. The earlier one counts: Android says Linux, too, and
/// iOS says Mac OS X, too.
const SYSTEMS: [(&str, OperatingSystem); 9] = [
    ("Android", OperatingSystem::Android),
    ("iPhone", OperatingSystem::Ios),
    ("iPad", OperatingSystem::Ios),
    ("iPod", OperatingSystem::Ios),
    ("Windows", OperatingSystem::Windows),
    ("Macintosh", OperatingSystem::Macos),
    ("Mac OS X", OperatingSystem::Macos),
    ("CrOS", OperatingSystem::Linux),
    ("Linux", OperatingSystem::Linux),
];

static SIGNS: LazyLock<Signs> =
    LazyLock::new(|| Signs::new(include_str!("../../data/link-preview-agents.txt")));

impl UserAgent {
    /// Reads a header's value.
    pub(crate) fn of(header: &[u8]) -> Self {
        SIGNS.read(header)
    }
}

/// Everything that is looked for.
struct Signs {
    automaton: AhoCorasick,
    /// Of each token behind the systems' words: whether it must begin the header.
    anchored: Vec<bool>,
}

impl Signs {
    fn new(list: &str) -> Self {
        let lines = list.lines().map(str::trim);
        let (tokens, anchored): (Vec<_>, Vec<_>) = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| match line.strip_prefix('^') {
                Some(token) => (token, true),
                None => (line, false),
            })
            .unzip();
        let words = SYSTEMS.iter().map(|(word, _)| *word).chain(tokens);
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .expect("the list is far smaller than an automaton can be");
        Self {
            automaton,
            anchored,
        }
    }

    fn read(&self, header: &[u8]) -> UserAgent {
        let mut system = SYSTEMS.len();
        let mut previews_links = false;
        for found in self.automaton.find_overlapping_iter(header) {
            if !is_edge(header, found.start()) {
                continue;
            }
            let sign = found.pattern().as_usize();
            match sign.checked_sub(SYSTEMS.len()) {
                // A version may stand right behind: iPhone12,1.
                None => system = system.min(sign),
                Some(token) => {
                    let begins = found.start() == 0 || !self.anchored[token];
                    previews_links |= begins && is_edge(header, found.end());
                }
            }
        }
        UserAgent {
            operating_system: SYSTEMS
                .get(system)
                .map(|(_, system)| *system)
                .unwrap_or_default(),
            previews_links,
        }
    }
}

/// Whether no word goes on over this place.
fn is_edge(header: &[u8], at: usize) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let before = at.checked_sub(1).and_then(|at| header.get(at));
    !(is_word(before) && is_word(header.get(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn previews(list: &str, agent: &str) -> bool {
        Signs::new(list).read(agent.as_bytes()).previews_links
    }

    #[test]
    fn a_token_is_whole() {
        for (agent, found) in [
            ("examplebot", true),
            ("ExampleBot/1.0", true),
            ("Mozilla/5.0 (compatible; examplebot; x)", true),
            ("examplebots", false),
            ("anexamplebot", false),
            ("examplebo examplebot", true),
            ("examplebot1 examplebot", true),
            ("", false),
        ] {
            assert_eq!(
                previews("# a list\n\nexamplebot\n", agent),
                found,
                "{agent}"
            );
        }
        assert!(previews("example/", "Example/1"));
        assert!(previews("(example/", "x(Example/1"));
    }

    #[test]
    fn an_anchored_token_begins_the_header() {
        assert!(previews("^example/", "Example/1.0 A"));
        assert!(!previews("^example/", "Mozilla/5.0 Example/1.0"));
    }

    #[test]
    fn a_header_need_not_be_text() {
        let agent = UserAgent::of(b"Mozilla/5.0 (Linux; Android 15) \xff Twitterbot/1.0");
        assert_eq!(agent.operating_system, OperatingSystem::Android);
        assert!(agent.previews_links);
    }

    #[test]
    fn systems_are_told_by_user_agents() {
        for (agent, system) in [
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15",
                OperatingSystem::Ios,
            ),
            (
                "Example/1 iPhone5,2 iOS/10_1 CFNetwork/808.3 Darwin/16.3.0",
                OperatingSystem::Ios,
            ),
            (
                "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/130.0",
                OperatingSystem::Android,
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64)",
                OperatingSystem::Windows,
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)",
                OperatingSystem::Macos,
            ),
            (
                "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)",
                OperatingSystem::Linux,
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:131.0)",
                OperatingSystem::Linux,
            ),
            (
                "Microsoft Office/16.0 (Microsoft Outlook Mail 16.0.8008; Pro)",
                OperatingSystem::Other,
            ),
            ("curl/8.5.0", OperatingSystem::Other),
            ("", OperatingSystem::Other),
        ] {
            let told = UserAgent::of(agent.as_bytes()).operating_system;
            assert_eq!(told, system, "{agent}");
        }
    }
}
