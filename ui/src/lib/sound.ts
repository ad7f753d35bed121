// A verdict for the ears: two rising tones, or one low. Without a sound device, silence.

let audio: AudioContext | null = null;

function tone(context: AudioContext, frequency: number, from: number, length: number): void {
  const oscillator = context.createOscillator();
  const volume = context.createGain();
  oscillator.frequency.value = frequency;
  volume.gain.setValueAtTime(0.25, context.currentTime + from);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + from + length);
  oscillator.connect(volume).connect(context.destination);
  oscillator.start(context.currentTime + from);
  oscillator.stop(context.currentTime + from + length);
}

export function play(good: boolean): void {
  try {
    audio ??= new AudioContext();
    void audio.resume();
    if (good) {
      tone(audio, 660, 0, 0.12);
      tone(audio, 990, 0.12, 0.2);
    } else {
      tone(audio, 180, 0, 0.6);
    }
  } catch {
    // The verdict stands in colour and in words as well.
  }
}
