import { percentText } from '../state/text.ts';

/** Fraction from which a meter is shown as nearly full. */
const NEARLY_FULL = 0.9;

/** A bar that shows a fraction from 0 to 1. */
export function Meter({ share, label }: { share: number; label: string }) {
  const bounded = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return (
    <div
      class={bounded >= NEARLY_FULL ? 'meter full' : 'meter'}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(bounded * 100)}
      aria-valuetext={percentText(bounded)}
    >
      <div class="meter-bar" style={{ width: `${bounded * 100}%` }} />
    </div>
  );
}
