//! The facts in a `User-Agent` header, found in one pass, because every tap reads it. Most headers
//! repeat others, so each thread keeps the facts of the latest ones.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::OperatingSystem;

/// The facts that a program states about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserAgent {
    /// The system it runs on.
    pub operating_system: OperatingSystem,
    /// Whether it opens links to preview or index them, without a person who waits for the page.
    pub previews_links: bool,
}

/// The words that identify a system. The earlier entry counts: Android also says Linux, iOS also
/// says Mac OS X, and apps for iPhones also say iPhone on an iPad.
const SYSTEMS: [(&str, OperatingSystem); 9] = [
    ("Android", OperatingSystem::Android),
    ("iPad", OperatingSystem::Ipados),
    ("iPhone", OperatingSystem::Ios),
    ("iPod", OperatingSystem::Ios),
    ("Windows", OperatingSystem::Windows),
    ("Macintosh", OperatingSystem::Macos),
    ("Mac OS X", OperatingSystem::Macos),
    ("CrOS", OperatingSystem::Linux),
    ("Linux", OperatingSystem::Linux),
];

/// Words of browsers and apps for iOS that none on a Mac uses. Since version 13 of its system an
/// iPad identifies itself as a Macintosh, so that it gets pages for large screens. Only these words
/// still identify it.
const OF_IOS: [&str; 6] = ["CriOS/", "FxiOS/", "EdgiOS/", "OPT/", "GSA/", "Mobile/"];

static SIGNS: LazyLock<Signs> = LazyLock::new(|| {
    Signs::new(concat!(
        include_str!("../../../../data/link-preview-agents.txt"),
        include_str!("../../../../data/link-preview-agents.generated.txt"),
    ))
});

impl UserAgent {
    /// Reads a header's value. Every browser names itself, so a missing or empty name means a
    /// program.
    pub fn of(header: &[u8]) -> Self {
        RECENT.with_borrow_mut(|recent| recent.of(header, Self::read))
    }

    fn read(header: &[u8]) -> Self {
        let read = SIGNS.read(header);
        Self {
            previews_links: read.previews_links || header.trim_ascii().is_empty(),
            ..read
        }
    }
}

/// Headers whose facts a thread keeps.
const KEPT: usize = 256;

thread_local! {
    static RECENT: RefCell<Recent> = RefCell::new(Recent::new());
}

/// The facts of the latest headers. The automaton jumps through a table of 1.6 MB, byte by byte; a
/// hash takes a fifth of that, and no memory that other work needs.
///
/// Only the hashes of headers are kept. Nobody can choose two headers with one hash, because each
/// thread has a secret for it, and by chance one in 2^64 headers gets the facts of another.
struct Recent {
    secret: RandomState,
    /// Each header has one place, by its hash; a later one there replaces it.
    places: [Option<(u64, UserAgent)>; KEPT],
}

impl Recent {
    fn new() -> Self {
        Self {
            secret: RandomState::new(),
            places: [None; KEPT],
        }
    }

    /// The facts in `header`, by `read` if they are not known.
    fn of(&mut self, header: &[u8], read: impl FnOnce(&[u8]) -> UserAgent) -> UserAgent {
        let hash = self.secret.hash_one(header);
        // The remainder fits, because it is smaller than the number of places.
        let place = usize::try_from(hash % KEPT as u64).unwrap_or_default();
        match self.places[place] {
            Some((known, agent)) if known == hash => agent,
            _ => {
                let agent = read(header);
                self.places[place] = Some((hash, agent));
                agent
            }
        }
    }
}

/// The meaning of a token for the program that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// It opens links by itself.
    Named,
    /// It opens links by itself, and has this name at the beginning of the header.
    Begins,
    /// It opens links by itself, unless it is exempt. Letters may come before the token.
    Sign,
    /// A sign does not count for this program.
    Exempt,
}

impl Rule {
    /// A line of the list.
    fn of(line: &str) -> (Self, &str) {
        let marks = [('^', Self::Begins), ('*', Self::Sign), ('!', Self::Exempt)];
        for (mark, rule) in marks {
            if let Some(token) = line.strip_prefix(mark) {
                return (rule, token);
            }
        }
        let is_address = line == "://";
        (if is_address { Self::Sign } else { Self::Named }, line)
    }
}

/// All tokens that are searched for.
struct Signs {
    automaton: AhoCorasick,
    /// The rule of each token that follows the words of systems and of iOS.
    rules: Vec<Rule>,
}

impl Signs {
    fn new(list: &str) -> Self {
        let lines = list.lines().map(str::trim);
        let (rules, tokens): (Vec<_>, Vec<_>) = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(Rule::of)
            .unzip();
        let words = SYSTEMS.iter().map(|(word, _)| *word);
        let words = words.chain(OF_IOS).chain(tokens);
        // The table of all transitions takes less than 2 MB. Without it, a header takes twice as many
        // instructions, and every tap has one.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .expect("the list is far smaller than an automaton can be");
        Self { automaton, rules }
    }

    fn read(&self, header: &[u8]) -> UserAgent {
        let (mut system, mut of_ios) = (SYSTEMS.len(), false);
        let (mut named, mut signed, mut exempt) = (false, false, false);
        for found in self.automaton.find_overlapping_iter(header) {
            let pattern = found.pattern().as_usize();
            let begins = is_edge(header, found.start());
            let Some(word) = pattern.checked_sub(SYSTEMS.len()) else {
                // A version may follow directly: iPhone12,1.
                if begins {
                    system = system.min(pattern);
                }
                continue;
            };
            let Some(token) = word.checked_sub(OF_IOS.len()) else {
                of_ios |= begins;
                continue;
            };
            if !is_edge(header, found.end()) {
                continue;
            }
            match self.rules[token] {
                Rule::Named => named |= begins,
                Rule::Begins => named |= found.start() == 0,
                Rule::Sign => signed = true,
                Rule::Exempt => exempt |= begins,
            }
        }
        let system = SYSTEMS.get(system).map(|(_, system)| *system);
        UserAgent {
            operating_system: match system.unwrap_or_default() {
                OperatingSystem::Macos if of_ios => OperatingSystem::Ipados,
                system => system,
            },
            previews_links: named || (signed && !exempt),
        }
    }
}

/// Whether no word continues across this position.
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
    fn a_sign_counts_behind_letters_and_not_for_what_is_exempt() {
        let list = "*bot\n://\n!cubot\n!library\nlibrarybot";
        for (agent, found) in [
            ("ExampleBot/1.0", true),
            ("Example (+https://example.com)", true),
            ("example_bot_2", true),
            ("Botany/1.0", false),
            ("bots", false),
            ("Mozilla/5.0 (Linux; Android 6.0; CUBOT MAX)", false),
            ("library/1.0 (+https://example.com)", false),
            ("library/1.0 librarybot/2", true),
        ] {
            assert_eq!(previews(list, agent), found, "{agent}");
        }
    }

    #[test]
    fn who_names_no_program_is_one() {
        for agent in ["", " ", "\t"] {
            assert!(UserAgent::of(agent.as_bytes()).previews_links, "{agent:?}");
        }
        assert!(!UserAgent::of(b"curl/8.5.0").previews_links);
    }

    #[test]
    fn a_header_is_read_once_while_its_place_is_its_own() {
        let mut recent = Recent::new();
        let mut of = |header: &[u8]| {
            let mut reads = 0;
            let agent = recent.of(header, |header| {
                reads += 1;
                UserAgent::read(header)
            });
            assert_eq!(agent, UserAgent::read(header));
            reads
        };
        let iphone = b"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)";
        assert_eq!([of(iphone), of(iphone), of(b""), of(b"")], [1, 0, 1, 0]);
        // More headers than places: some share one, and each still gets its own facts.
        for number in 0..4 * KEPT {
            of(format!("Android/{number}").as_bytes());
            of(format!("Twitterbot/{number}").as_bytes());
        }
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
                "Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148",
                OperatingSystem::Ipados,
            ),
            (
                "Mozilla/5.0 (iPad; CPU iPhone OS 12_0 like Mac OS X) AppleWebKit/605.1.15",
                OperatingSystem::Ipados,
            ),
            (
                "Example/1 iPad13,4 iOS/17_1 CFNetwork/1485 Darwin/23.1.0",
                OperatingSystem::Ipados,
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126 Version/11.1.1 Safari/605.1.15",
                OperatingSystem::Ipados,
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_4) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/128.0 Safari/605.1.15",
                OperatingSystem::Ipados,
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
                OperatingSystem::Ipados,
            ),
            // No word shows whether it is an iPad or a Mac.
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
                OperatingSystem::Macos,
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 CriOS/126 Mobile/15E148 Safari/604.1",
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
