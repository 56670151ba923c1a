// The call tree as columns in preorder, node 0 the whole run; and the same from the leaves up.

const ROOT = -1; // name of the node that stands for the run

/** Adds what is below to each node, and where each lies between 0 and 1: siblings by size, the largest first. */
function finish(tree) {
  const count = tree.parent.length;
  tree.all = Float64Array.from(tree.own);
  tree.end = new Int32Array(count).fill(0);
  tree.depth = new Int32Array(count);
  if (tree.before) tree.allBefore = Float64Array.from(tree.before);
  if (tree.after) tree.allAfter = Float64Array.from(tree.after);
  for (let i = count - 1; i >= 0; i--) {
    tree.end[i] = Math.max(tree.end[i], i + 1);
    const above = tree.parent[i];
    if (above < 0) continue;
    tree.all[above] += tree.all[i];
    if (tree.before) tree.allBefore[above] += tree.allBefore[i];
    if (tree.after) tree.allAfter[above] += tree.allAfter[i];
    tree.end[above] = Math.max(tree.end[above], tree.end[i]);
  }
  const children = Array.from({ length: count }, () => null);
  let deepest = 0;
  for (let i = 1; i < count; i++) {
    const above = tree.parent[i];
    tree.depth[i] = tree.depth[above] + 1;
    deepest = Math.max(deepest, tree.depth[i]);
    (children[above] ||= []).push(i);
  }
  tree.children = children;
  tree.deepest = deepest;
  tree.left = new Float64Array(count);
  const total = tree.all[0] || 1;
  for (let i = 0; i < count; i++) {
    if (!children[i]) continue;
    children[i].sort((a, b) => tree.all[b] - tree.all[a]);
    let at = tree.left[i];
    for (const child of children[i]) {
      tree.left[child] = at;
      at += tree.all[child] / total;
    }
  }
  return tree;
}

/** The tree of `view` by one metric. */
function topDown(view, metric) {
  const drawn = view.tree;
  const after = drawn.values[metric];
  const before = drawn.before[metric];
  const own = after.map((value, at) => Math.max(0, value, before ? before[at] : 0));
  return finish({
    parent: [-1, ...drawn.parent.map((above) => above + 1)],
    name: [ROOT, ...drawn.name], file: [-1, ...drawn.file], line: [0, ...drawn.line], group: [-1, ...drawn.group],
    own: [0, ...own], before: before ? [0, ...before] : null, after: before ? [0, ...after] : null,
  });
}

/** From the leaves up: below each place those that call it, with what it has itself. Parts too small to be seen are left out. */
function bottomUp(tree) {
  const smallest = tree.all[0] * 5e-5;
  const nodes = [{ name: ROOT, source: 0, own: 0, before: 0, after: 0, below: new Map() }];
  for (let i = 1; i < tree.parent.length; i++) {
    if (tree.own[i] <= 0) continue;
    let at = nodes[0];
    for (let step = i; step > 0; step = tree.parent[step]) {
      let next = at.below.get(tree.name[step]);
      if (!next) {
        next = { name: tree.name[step], source: step, own: 0, before: 0, after: 0, below: new Map() };
        at.below.set(tree.name[step], next);
        nodes.push(next);
      }
      next.own += tree.own[i];
      if (tree.before) { next.before += tree.before[i]; next.after += tree.after[i]; }
      at = next;
    }
  }
  const found = { parent: [], name: [], file: [], line: [], group: [], own: [], before: tree.before ? [] : null, after: tree.before ? [] : null, inverted: true };
  const stack = [[nodes[0], -1]];
  while (stack.length) {
    const [node, above] = stack.pop();
    const at = found.parent.length;
    let inner = 0, innerBefore = 0, innerAfter = 0;
    for (const child of node.below.values()) {
      if (child.own < smallest) continue;
      inner += child.own; innerBefore += child.before; innerAfter += child.after;
      stack.push([child, at]);
    }
    found.parent.push(above);
    found.name.push(node.name);
    for (const column of ["file", "line", "group"]) found[column].push(tree[column][node.source]);
    found.own.push(above < 0 ? 0 : Math.max(0, node.own - inner));
    if (found.before) { found.before.push(above < 0 ? 0 : node.before - innerBefore); found.after.push(above < 0 ? 0 : node.after - innerAfter); }
  }
  return finish(found);
}

/** The nodes whose name holds `text`, and what the outermost of them have of the whole. */
function search(tree, names, text) {
  const wanted = text.toLowerCase();
  const hit = names.map((name) => name.toLowerCase().includes(wanted));
  const found = new Set();
  let covered = 0;
  let until = 0;
  for (let i = 1; i < tree.parent.length; i++) {
    if (!hit[tree.name[i]] || tree.all[i] <= 0) continue;
    found.add(i);
    if (i >= until) { covered += tree.all[i]; until = tree.end[i]; }
  }
  return [found, tree.all[0] > 0 ? covered / tree.all[0] : 0];
}
