import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** A section of a page with a heading. `aside` is shown next to the heading. */
export function Panel({
  title,
  aside,
  children,
  wide,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const id = useId();
  return (
    <section class={wide ? 'panel wide' : 'panel'} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside === undefined ? null : <div class="aside">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** A list of `Fact`s. */
export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Links to the tabs of a page. `present`: the ID of the current tab. */
export function Tabs({
  label,
  tabs,
  present,
}: {
  label: string;
  tabs: readonly { id: string; title: string; href: string }[];
  present: string;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, title, href }) => (
        <a key={id} href={href} aria-current={id === present ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
