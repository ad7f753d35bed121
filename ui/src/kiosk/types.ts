// Made from the types of src-tauri: UPDATE_SHELL_TYPES=1 cargo test -p tapdesk --lib page_types

/**
 * Content of the attract page, as the owner chose it.
 */
export type Attract = { heading: string, text: string, name: string, colour: string | null, logo: string | null, pictures: Array<string>, picture_seconds: number, code: string | null,
/**
 * The languages that visitors can choose, in their order; empty for all.
 */
languages: Array<string>, sound: boolean, light: boolean, };

/**
 * A message to a visitor, in the page's words.
 */
export type Notice = "unread" | "blank" | "copied" | "other_host" | "other_group" | "failed" | "broke";

/**
 * A reason why the kiosk does not run, as its screen shows it.
 */
export type Problem = {
/**
 * A sentence that names the missing thing.
 */
title: string,
/**
 * The steps that the owner can take.
 */
text: string,
/**
 * Whether a button may close the program, because no PIN is set that could.
 */
can_close: boolean,
/**
 * Whether it can pass without anyone's help. Visitors are asked to wait then, and the reason is
 * small, for staff.
 */
passes: boolean, };

/**
 * The result of entering a PIN.
 */
export type Unlocked = { "outcome": "right" } | { "outcome": "wrong" } | { "outcome": "wait",
/**
 * Seconds for which no PIN is checked.
 */
seconds: number, };

/**
 * State of the attract page.
 */
export type View = {
/**
 * The current visit; `None` while the attract page is shown.
 */
visit: Visit | null,
/**
 * A message to the visitor, shown until the next tag.
 */
notice: Notice | null,
/**
 * Whether a reader is connected, so that visitors can place tags.
 */
has_reader: boolean,
/**
 * Whether the service runs, so that pages can open.
 */
has_service: boolean,
/**
 * Whether a tag is on a reader.
 */
has_tag: boolean,
/**
 * Whether a tag was placed and is being checked.
 */
is_reading: boolean,
/**
 * Rises with each tag that is placed, so that the page plays a sound and flashes.
 */
tags: number,
/**
 * Rises each time the owner asks for the PIN during a visit.
 */
asked: number,
/**
 * Rises each time the addresses of this computer change, so that the page asks for its code again.
 */
network: number,
/**
 * The reason why the kiosk cannot run now; `None` if it can.
 */
problem: Problem | null, };

/**
 * A visit in progress.
 */
export type Visit = {
/**
 * Its number since the kiosk was shown. The page names it when it ends a visit.
 */
number: number,
/**
 * Seconds until it ends without input.
 */
seconds_left: number,
/**
 * The verdict that the tap gets; `None` if the service does not judge the tag.
 */
verified: boolean | null,
/**
 * Whether the page is shown. Before that, the verdict is.
 */
is_open: boolean, };
