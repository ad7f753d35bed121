// A sound for each tone of a verdict; silent without a sound device.

/** Good; warning; bad; copied URL; repeat the read. */
export type Tone = "good" | "warn" | "bad" | "alarm" | "again";

/**
 * Notes as frequency in Hz, start and length in seconds. Rising means good, falling means bad, and
 * the alarm sounds three times.
 */
const melodies: Record<Tone, [number, number, number][]> = {
  good: [
    [660, 0, 0.12],
    [990, 0.12, 0.2],
  ],
  warn: [
    [440, 0, 0.15],
    [440, 0.22, 0.15],
  ],
  bad: [[180, 0, 0.6]],
  alarm: [0, 0.4, 0.8].flatMap((from): [number, number, number][] => [
    [880, from, 0.18],
    [220, from + 0.2, 0.18],
  ]),
  again: [[330, 0, 0.12]],
};

let audio: AudioContext | null = null;
/** Notes that have not ended yet. */
let sounding = 0;

function note(context: AudioContext, [frequency, from, length]: [number, number, number]): void {
  const oscillator = context.createOscillator();
  const volume = context.createGain();
  oscillator.frequency.value = frequency;
  volume.gain.setValueAtTime(0.25, context.currentTime + from);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + from + length);
  oscillator.connect(volume).connect(context.destination);
  oscillator.start(context.currentTime + from);
  oscillator.stop(context.currentTime + from + length);
  sounding += 1;
  // A running context renders silence for as long as the window is open, and costs battery.
  oscillator.onended = () => {
    sounding -= 1;
    if (sounding === 0) void context.suspend();
  };
}

export function play(tone: Tone): void {
  try {
    audio ??= new AudioContext();
    void audio.resume();
    for (const one of melodies[tone]) note(audio, one);
  } catch {
    // The screen shows the verdict as well.
  }
}
