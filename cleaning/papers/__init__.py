"""The published methods, one readable file each, callable alone: references, not the product.

Their parameters are the papers'; ``docs/methods.md`` has every figure beside ours. The product uses
two functions: ``noise.score_redundancy`` for learning, ``link_blocks.find_link_blocks`` for
``clean(..., blocks=True)``; an import contract refuses any other.

=====  ============================================  ==============================================
Paper  Subject                                       Files
=====  ============================================  ==============================================
1      related links (Wang et al. 2006)              ``related_links``
2      body text by hyperlinks (Ren, Liu 2010)       ``hyperlink_body``
3      noise links and pictures (Li et al. 2006)     ``noise``
4      logical link blocks (a dissertation, ch. 5)   ``link_blocks``
5      forums (Liu et al. 2018)                      ``usc`` (topic pages by URL), ``knn_dpc`` (its
                                                     clustering), ``prefix_tree`` (the same in
                                                     near-linear time), ``ksf`` (class of the posts)
=====  ============================================  ==============================================

``scan`` (tags of a source without a tree) and ``words`` (Chinese words) serve several of them.
"""
