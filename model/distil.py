"""Teachers: models that were trained before, whose mean opinion a new one learns from beside the labels."""

import functools
import multiprocessing

import numpy as np
import torch

import export
import features as F

TAGS = len(F.TAGS)


def rows_of(path, words):
    """The rows of part of a list of words in a weights file; -1 for words it does not know."""
    model = export.read(path)
    return [-1 if F.fixed_word_row(word) is not None else model.vocabulary.get(word, -1) for word in words]


class Teachers:
    """The models in the given files, each with the row of every word worked out beforehand."""

    def __init__(self, paths, words, features, network_of, workers, device):
        parts = [words[start:start + 20_000] for start in range(0, len(words), 20_000)]
        self.members = []
        for path in paths:
            with multiprocessing.Pool(workers) as pool:
                own = np.concatenate([np.array(part) for part in pool.map(functools.partial(rows_of, path), parts)])
            model = export.read(path)
            network = network_of(model).to(device).eval()
            self.members.append((network, self.table(model, own, features, device)))

    @staticmethod
    def table(model, own, features, device):
        """[words, row]: in half precision, which holds these sums exactly."""
        known, grams = (torch.tensor(table.astype(np.float32) / 32, device=device) for table in (model.words, model.grams))
        grams = torch.cat([grams, torch.zeros(1, grams.shape[1], device=device)])
        rows = torch.tensor(np.concatenate([[0], own]), device=device)
        rows = torch.where(features.is_word, rows, features.rows)
        table = torch.empty(len(rows), known.shape[1], dtype=torch.half, device=device)
        for start in range(0, len(rows), 50_000):
            here = slice(start, start + 50_000)
            spelled = grams[features.grams[here]].sum(1)
            table[here] = torch.where((rows[here] >= 0).unsqueeze(-1), known[rows[here].clamp(min=0)], spelled).half()
        return table

    def opinion(self, run, ids, contexts):
        """The mean of their probabilities for each tag."""
        with torch.no_grad():
            told = [run(network, table[ids].float(), contexts, ids != 0) for network, table in self.members]
            return sum(torch.softmax(scores[..., :TAGS], -1) for scores in told) / len(told)


def blend(ids, contexts, count, share):
    """The first rows with some tokens from elsewhere in the batch: texts that nobody wrote, for teachers to judge."""
    pool_ids, pool_shapes = ids[ids != 0], (contexts // 20)[ids != 0]
    chosen = (ids != 0) & (torch.rand(ids.shape, device=ids.device) < share)
    chosen[count:] = False
    source = torch.randint(0, len(pool_ids), ids.shape, device=ids.device)
    return torch.where(chosen, pool_ids[source], ids), torch.where(chosen, pool_shapes[source] * 20 + contexts % 20, contexts)
