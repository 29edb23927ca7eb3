// The meaning of a colour. Every use also shows an icon or a word, never the colour alone.
export type Tone = 'ok' | 'warn' | 'danger' | 'info' | 'neutral';
