// System, light or dark.

export type Theme = "system" | "light" | "dark";

const KEY = "theme";

class ThemeChoice {
  value = $state<Theme>((localStorage.getItem(KEY) as Theme | null) ?? "system");

  constructor() {
    this.#apply();
  }

  choose(theme: Theme): void {
    this.value = theme;
    localStorage.setItem(KEY, theme);
    this.#apply();
  }

  #apply(): void {
    if (this.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.value;
  }
}

export const theme = new ThemeChoice();
