"""The published methods as reference implementations, one file each.

Their parameters are the papers'; ``docs/methods.md`` has the papers' figures beside ours. The
product uses two functions: ``noise.score_redundancy`` for learning and, for ``clean(...,
blocks=True)``, ``link_blocks.find_link_blocks``; an import contract refuses the others.

=====  ============================================  ==============================================
Paper  Subject                                       Files
=====  ============================================  ==============================================
1      related links (Wang et al. 2006)              ``related_links``
2      body text by hyperlinks (Ren, Liu 2010)       ``hyperlink_body``
3      noise links and pictures (Li et al. 2006)     ``noise``
4      logical link blocks (a dissertation, ch. 5)   ``link_blocks``
5      forums (Liu et al. 2018)                      ``usc`` (topic pages by URL), ``knn_dpc`` (its
                                                     clustering), ``prefix_tree`` (clustering in
                                                     near-linear time), ``ksf`` (class of the posts)
=====  ============================================  ==============================================

``scan`` (tags of a source without a tree) and ``words`` (Chinese words) serve several methods.
"""
