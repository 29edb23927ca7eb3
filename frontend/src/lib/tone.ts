// The meaning of a colour. Every use shows an icon or a word beside it, never the colour alone.
export type Tone = 'ok' | 'warn' | 'danger' | 'info' | 'neutral';
