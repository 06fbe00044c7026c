/** The data of a ConfigMap or Secret. Secret values are hidden until the user clicks Show. */
import { useState } from 'preact/hooks';
import type { KubeObject } from '../api/objects.ts';
import { plainText } from '../logs/ansi.ts';
import { bytesText } from '../state/text.ts';
import { Text } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

/** Maximum number of characters shown of a value. The rest is in the YAML. */
const MAX_SHOWN = 6000;

type DataObject = KubeObject & { data?: Record<string, string>; binaryData?: Record<string, string> };

export function DataPanel({ kind, object }: { kind: string; object: KubeObject }) {
  if (kind !== 'ConfigMap' && kind !== 'Secret') return null;
  const { data = {}, binaryData = {} } = object as DataObject;
  const entries = Object.entries(data);
  return (
    <Panel title="Data" wide>
      {entries.length + Object.keys(binaryData).length === 0 ? <p class="faint">No keys.</p> : null}
      {entries.map(([key, value]) => (
        <Value key={key} name={key} value={value} isSecret={kind === 'Secret'} />
      ))}
      {Object.entries(binaryData).map(([key, value]) => (
        <p key={key}>
          <strong>{key}</strong> <span class="faint">{bytesText((value.length * 3) / 4)}, not text</span>
        </p>
      ))}
    </Panel>
  );
}

function Value({ name, value, isSecret }: { name: string; value: string; isSecret: boolean }) {
  const [isShown, setShown] = useState(!isSecret);
  return (
    <div class="data">
      <div class="trouble-head">
        <strong>
          <Text>{name}</Text>
        </strong>
        {isSecret ? (
          <button type="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide' : 'Show'}
          </button>
        ) : null}
      </div>
      {isShown ? (
        <pre class="log-end">{shownText(isSecret ? decoded(value) : value)}</pre>
      ) : (
        <p class="faint">hidden</p>
      )}
    </div>
  );
}

function shownText(text: string): string {
  const shown = text.slice(0, MAX_SHOWN).split('\n').map(plainText).join('\n');
  return text.length > MAX_SHOWN ? `${shown}\n… the rest is in the YAML` : shown;
}

/** Decodes Base64 as UTF-8, replacing invalid bytes. Text that is not Base64 is returned unchanged. */
function decoded(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
  } catch {
    return base64;
  }
}
