// Made from the types of src-tauri: UPDATE_SHELL_TYPES=1 cargo test -p tapdesk --lib page_types

/**
 * What the attract page shows of the owner's choices.
 */
export type Attract = { heading: string, text: string, name: string, colour: string | null, pictures: Array<string>, picture_seconds: number, code: string | null, sound: boolean, light: boolean, };

/**
 * A message to a visitor, in the page's words.
 */
export type Notice = "unread" | "blank" | "copied" | "other_host" | "failed" | "broke";

/**
 * What keeps the kiosk from starting, as its screen says it.
 */
export type Problem = {
/**
 * What is missing.
 */
title: string,
/**
 * What the owner can do.
 */
text: string,
/**
 * Whether a button ends the program: there is no PIN that could.
 */
can_close: boolean, };

/**
 * The result of entering a PIN.
 */
export type Unlocked = { "outcome": "right" } | { "outcome": "wrong" } | { "outcome": "wait",
/**
 * For how long nothing is tried.
 */
seconds: number, };

/**
 * What the attract page shows.
 */
export type View = {
/**
 * The current visit.
 */
visit: Visit | null,
/**
 * What to tell the visitor, until the next tag.
 */
notice: Notice | null,
/**
 * Whether a reader is there to lay tags on.
 */
has_reader: boolean,
/**
 * Rises with each tag that was laid down, for sound and light.
 */
tags: number,
/**
 * Rises each time the owner asks for the PIN during a visit.
 */
asked: number,
/**
 * Why there is no kiosk, if there is none.
 */
problem: Problem | null, };

/**
 * A visit.
 */
export type Visit = {
/**
 * For how many seconds it lasts without input.
 */
seconds_left: number, };
