// Tells the style sheet at which sides a table goes on beyond the edges of what scrolls it: `data-before`, `data-beyond`.
// Style sheets of their own can tell that in some browsers only. What is written are attributes: a scroll renders nothing.

/** A ref of a table; its parent is what scrolls. */
export function watchEdges(table: HTMLTableElement): () => void {
  const scroller = table.parentElement;
  if (!scroller) return () => undefined;
  const tell = () => {
    const { scrollLeft, scrollWidth, clientWidth } = scroller;
    scroller.toggleAttribute('data-before', scrollLeft > 0);
    // Places are fractions of pixels, widths are not.
    scroller.toggleAttribute('data-beyond', scrollLeft + clientWidth < scrollWidth - 1);
  };
  const sizes = new ResizeObserver(tell);
  sizes.observe(scroller);
  sizes.observe(table);
  scroller.addEventListener('scroll', tell, { passive: true });
  return () => {
    sizes.disconnect();
    scroller.removeEventListener('scroll', tell);
  };
}
