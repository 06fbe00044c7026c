/** Explains why an object needs attention: the chain of objects that leads to the cause, advice, and the end of the log. */
import { EXPLAINED } from '@podwright/kube-view';
import { readWhy } from '../api/dashboard.ts';
import type { Resource } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import { plainText } from '../logs/ansi.ts';
import { useAnswer } from '../state/answer.ts';
import { Mark, ObjectLink, Problem, Text, Waiting } from '../widgets/marks.tsx';
import { Panel } from '../widgets/panel.tsx';

const PERIOD_MS = 10_000;

/** Whether a resource's objects can be explained. */
export const isExplained = ({ group, plural }: Resource): boolean =>
  EXPLAINED.some((one) => one.group === group && one.plural === plural);

type WhyProps = { resource: Resource; namespace: string; name: string };

export function WhyPanel({ resource: { plural }, namespace, name }: WhyProps) {
  const { value, error, again, isReading } = useAnswer(
    (signal) => readWhy({ plural, namespace, name, signal }),
    [plural, namespace, name],
    { periodMs: PERIOD_MS },
  );
  const button = (
    <button type="button" onClick={again}>
      Why?
    </button>
  );
  if (value === undefined)
    return (
      <Panel title="Why" aside={button} wide>
        {isReading ? (
          <Waiting what="Looking for the cause" />
        ) : (
          <Problem what="The object cannot be explained">{messageOf(error)}</Problem>
        )}
      </Panel>
    );
  const { isWell, chain, finding, change } = value;
  return (
    <Panel title={isWell ? 'Why: all is well' : 'What is wrong?'} aside={button} wide>
      <ol class="chain">
        {chain.map(({ subject, sentence }) => (
          <li key={`${subject.kind}/${subject.name}`}>
            <ObjectLink object={subject} withKind /> <Text>{sentence}</Text>
          </li>
        ))}
      </ol>
      {change === undefined ? null : (
        <p>
          <Mark tone="warn">Last change</Mark> <Text>{change}</Text>
        </p>
      )}
      {finding?.advice.map((advice) => (
        <p class="advice" key={advice}>
          <span aria-hidden="true">→ </span>
          <Text>{advice}</Text>
        </p>
      ))}
      {finding?.log === undefined || finding.log.lines.length === 0 ? null : (
        <figure>
          <figcaption class="faint">
            Last lines of {plainText(finding.log.container)}
            {finding.log.previous ? ', previous run' : ''}
          </figcaption>
          <pre class="log-end">{finding.log.lines.map(plainText).join('\n')}</pre>
        </figure>
      )}
    </Panel>
  );
}
