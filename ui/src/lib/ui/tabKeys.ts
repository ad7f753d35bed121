// The keys of a list of tabs, which is one stop of the Tab key: arrows, Home and End show another tab.

/** Shows the tab that a key leads to, and gives it the focus. `list` has one element for each tab. */
export function moveTab(
  event: KeyboardEvent,
  tabs: { key: string }[],
  shown: string,
  list: HTMLElement,
  onshow: (key: string) => void,
): void {
  const at = tabs.findIndex(({ key }) => key === shown);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = (to + tabs.length) % tabs.length;
  onshow(tabs[next]!.key);
  (list.children[next] as HTMLElement).focus();
}
